import { render } from 'preact';
import './styles.css';
import './parts.css';
import './timeline.css';
import './dialog.css';
import './phone.css';
import { Page } from './page.tsx';

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
