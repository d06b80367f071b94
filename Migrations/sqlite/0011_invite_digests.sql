-- The code of an invite is stored as its digest only, as other secrets are.

alter table invite drop column code;
