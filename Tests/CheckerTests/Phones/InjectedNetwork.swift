/// How what is between an app and the server could be broken: the checker has to find each.
enum InjectedNetwork: CaseIterable {
  /// A message is acknowledged with the answer to one before it, and the server never heard of it.
  case answersByItself
  /// A message arrives a second time, under another name.
  case postsTwice
  /// An event does not come.
  case losesOne
}
