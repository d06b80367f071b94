/// How what is between an app and the server could be broken: the checker has to find each.
enum InjectedNetwork: CaseIterable {
  /// A message is acknowledged with the answer to one before it, and the server never heard of it.
  case answersByItself
  /// A message arrives a second time, under another name.
  case postsTwice
  /// From some event on, no line tells any more what happens in conversations.
  case fallsSilent
}
