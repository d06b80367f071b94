// The parts of a topic's page that other conversations don't have. They are loaded with the first topic.

export { besideTopics } from '../forum/besidetopics.js';
export { topicHead } from './topichead.js';
export { timelineOf } from './topictimeline.js';
