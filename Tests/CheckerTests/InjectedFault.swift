/// Faults of a hub that the checker must detect.
enum InjectedFault: CaseIterable {
  /// One event is dropped, repeated, or delivered after the next.
  case dropsOne, doublesOne, swapsTwo
  /// One event is sent to a user without permission.
  case asksNoRights
}
