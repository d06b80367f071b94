// The kit's errors in Foundation's form: `localizedDescription` is their text for the user.

#if PARLEY_FOUNDATION
public import Foundation
#if !canImport(Darwin)
public import ParleyKit
#endif

extension ClientFault: LocalizedError {
  public var errorDescription: String? { userMessage }
}

extension CacheFault: LocalizedError {
  public var errorDescription: String? { userMessage }
}

extension SyncRefusal: LocalizedError {
  public var errorDescription: String? { userMessage }
}

extension AppAuthorizationFault: LocalizedError {
  public var errorDescription: String? { userMessage }
}

extension OutboxRefusal: LocalizedError {
  public var errorDescription: String? { userMessage }
}
#endif
