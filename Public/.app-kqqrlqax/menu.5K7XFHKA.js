import{qa as a,ra as b}from"./chunk.CSQ3KWN4.js";export{b as menu,a as menuElement};
