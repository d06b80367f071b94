/// The reason why a source can't be imported: one sentence about it and the next step.
public struct ImportFault: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
