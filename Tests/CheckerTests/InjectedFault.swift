/// How a hub could be broken: the checker has to find each.
enum InjectedFault: CaseIterable {
  /// One event does not come, comes twice, or behind the next.
  case dropsOne, doublesOne, swapsTwo
  /// One event goes to somebody whose it is not.
  case asksNoRights
}
