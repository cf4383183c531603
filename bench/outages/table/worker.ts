// First, because it replaces Math.random.
import '../world/time.ts';
import { parentPort, workerData } from 'node:worker_threads';
import { HABITS } from '../agent/habits.ts';
import { OWN_TASKS } from '../airline/tasks.ts';
import { readPublished } from '../airline/tau2.ts';
import { playRun } from '../play.ts';
import { FAULTS } from '../world/faults.ts';
import { startToolServer } from '../world/server.ts';
import { type Cell, FRAMEWORKS, named, protectionOf } from './cells.ts';

/** Plays cells as they come, one run after the other. */
const { clone } = workerData as { readonly clone: string | undefined };
const tasks = clone === undefined ? OWN_TASKS : readPublished(clone);
const server = await startToolServer();

const play = async ({ framework, protection, fault, habit, runs }: Cell): Promise<readonly Figures[]> => {
  const { loop } = named(FRAMEWORKS, framework);
  const setting = {
    ...{ loop, tasks, server, protection: protectionOf(framework, protection) },
    ...{ fault: named(FAULTS, fault), habit: named(HABITS, habit) },
  };
  const figures: Figures[] = [];
  for (let number = 0; number < runs; number += 1) figures.push(await playRun({ ...setting, number }));
  return figures;
};
type Figures = Awaited<ReturnType<typeof playRun>>;

parentPort?.on('message', async (cell: Cell) => parentPort?.postMessage(await play(cell)));
parentPort?.postMessage('ready');
