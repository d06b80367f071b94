-- Kinds of unfinished jobs that have new names.
update job set kind = 'room-mentions' where kind = 'room-ringing';
update job set kind = 'notification-removal' where kind = 'inbox-removal';
