import { render } from 'preact';
import { App } from './frame/app.js';
import { copyExactTimes } from './frame/copies.js';
import { followKeys } from './frame/keys.js';
import { followLog } from './state/live.js';
import { followAddress } from './state/store.js';
import { followTimeline } from './state/timeline.js';

followAddress();
followTimeline();
followLog();
followKeys();
copyExactTimes();
render(<App />, document.getElementById('page') as HTMLElement);
