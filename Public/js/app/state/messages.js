// Messages: read positions, single messages.

export async function markRead(site, conversation, message) {
  site.overview.take(conversation.id);
  if (site.parley.conversation(conversation.id)?.read_up_to !== undefined && message.seq)
    return site.parley.markRead({ ...message, conversation_id: conversation.id });
  return site.call('PUT', `/conversations/${conversation.id}/read`, { body: { message_id: message.id } });
}

/** A message that a view names, from the cache if it is there. */
export async function messageWith(site, id) {
  return (await site.parley?.store.get('messages@id', id)) ?? site.call('GET', `/messages/${id}`);
}
