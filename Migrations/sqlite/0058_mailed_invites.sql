-- Invites in the mails that let imported users claim their accounts. They are in the name of the owner, who has not made them.
alter table invite add column mailed integer not null default 0 check (mailed in (0, 1));

create index invite_by_claim on invite (claims_user_id) where claims_user_id is not null;
