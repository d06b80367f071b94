import{a,b}from"./chunk.LLBXDBAE.js";import"./chunk.CSQ3KWN4.js";export{a as open,b as writeTo};
