/// Faults of a network that the checker must detect.
enum InjectedNetworkFault: CaseIterable {
  /// A message is acknowledged with an earlier response, and never sent to the server.
  case repeatsResponse
  /// A message is posted twice, with different client ids.
  case postsTwice
  /// After some event, no connection delivers conversation events.
  case dropsEvents
}
