-- The key that signs the marks of devices on which a user signed in. With it one guesses passwords from more buckets,
-- which the copies of the passwords beside it make pointless.

insert into setting (name, value)
values ('device_key', lower(hex(randomblob(32))));
