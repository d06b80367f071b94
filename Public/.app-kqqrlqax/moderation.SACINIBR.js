import{e as a,f as b,g as c}from"./chunk.4IPV6YXV.js";import"./chunk.KOSMWKPU.js";import"./chunk.O5RWTITZ.js";import"./chunk.CSQ3KWN4.js";export{c as decisions,a as orderItems,b as ordersFor};
