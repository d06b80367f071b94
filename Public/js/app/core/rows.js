// The style of messages as rows, for those who choose it.

import { loadSheet } from './sheet.js';

export const loadRows = () => loadSheet('/css/parts/lists/rows.css');
