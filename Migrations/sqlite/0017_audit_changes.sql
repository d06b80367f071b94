-- The changed fields of an audited action, as JSON: an array of objects with `field`, `from` and `to`.
alter table audit add column changes text;
