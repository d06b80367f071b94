/// Faults of a hub that the checker must detect.
enum InjectedFault: CaseIterable {
  /// One event is dropped, repeated, or delivered after the next.
  case dropsEvent, repeatsEvent, reordersEvents
  /// One event is sent to a user without permission.
  case ignoresPermissions
}
