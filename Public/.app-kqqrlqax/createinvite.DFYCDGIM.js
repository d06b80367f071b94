import{b as a,c as b}from"./chunk.AZ4PFQZC.js";import"./chunk.CSQ3KWN4.js";export{b as createInvite,a as inviteAddress};
