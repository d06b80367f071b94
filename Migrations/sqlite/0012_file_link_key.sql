-- The key of signed file links is in memory.

delete from setting
where name = 'file_link_key';
