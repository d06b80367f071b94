/// Faults of a network that the checker must detect.
enum InjectedNetwork: CaseIterable {
  /// A message is acknowledged with an earlier response, and never sent to the server.
  case answersByItself
  /// A message is posted twice, with different client ids.
  case postsTwice
  /// After some event, no connection delivers conversation events.
  case fallsSilent
}
