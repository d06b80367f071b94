import{a,b}from"./chunk.APAI3ZWM.js";import"./chunk.5OAVUS62.js";import"./chunk.CSQ3KWN4.js";export{a as open,b as tiles};
