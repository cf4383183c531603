import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createBreakerbox } from './index.ts';
const port=19464;
const exporter=new PrometheusExporter({host:'127.0.0.1',port});
metrics.setGlobalMeterProvider(new MeterProvider({readers:[exporter],views:[{instrumentName:'breakerbox.circuit.opened.time',name:'breakerbox.circuit.opened.time.seconds'},{instrumentName:'gen_ai.execute_tool.duration',name:'gen_ai.execute_tool.duration.seconds'}]}));
const mk=(agent)=>createBreakerbox({agent,tools:{web:{},mail:{},db:{}}});
const boxes={sick:mk('sick'),calm:mk('calm')}; mk('idle');
let s={}; let n=0;
setInterval(()=>{n++;for(const a of ['sick','calm']){ if(n%150===1){s[a]?.end?.();s[a]=boxes[a].session({id:a+n});}
 for(const t of ['web','mail','db']){const p=s[a].acquire(t,{});if(p.decision==='call'||p.decision==='probe')p.settle(a==='sick'&&t!=='db'&&n%3<2?{error:Object.assign(new Error('x'),{code:t==='web'?'ECONNREFUSED':'ETIMEDOUT'})}:{outcome:'success'});} s[a].step();}},200);
setTimeout(()=>process.exit(0),90000);
