import ParleySQLite

/// A fault of the local storage.
public enum CacheFault: Error, Sendable, Hashable {
  /// The disk is full or broken, or the file is not a cache. The text is for developers.
  case broken(String)
  /// Another process has locked the file.
  case inUse
  /// A newer version of the app has written the file.
  case newer(version: Int)
  /// The cache was closed.
  case closed
  /// The session of the cache's user has ended. The data is unlocked when the same user signs in.
  case locked
}

extension CacheFault {
  /// A text for the user, in English.
  public var userMessage: String {
    switch self {
    case .broken: "Can’t read or write this device’s storage."
    case .inUse: "Another program is using this device’s storage."
    case .newer: "The data on this device is from a newer version of the app."
    case .closed: "You have signed out."
    case .locked: "Sign in first."
    }
  }
}

extension CacheFault {
  init(_ error: any Error) {
    if let error = error as? SQLiteError, [.busy, .locked].contains(error.code) {
      self = .inUse
    } else {
      self = .broken("\(error)")
    }
  }
}
