import{a,b,c}from"./chunk.KZMGAAPH.js";import"./chunk.CSQ3KWN4.js";export{a as emoji,c as emojiPicker,b as findEmoji};
