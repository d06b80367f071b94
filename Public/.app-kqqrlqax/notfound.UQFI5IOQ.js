import"./chunk.CSQ3KWN4.js";function o(n){return n.faultPage({code:"not_found"})}export{o as open};
