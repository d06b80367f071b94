import API
package import ParleyHTTPClient
import ParleyNetworking

/// One run of the program.
package enum Invocation {
  /// The servers of others that the daemon may reach. It is constant for the whole run.
  @TaskLocal static var outgoingPolicy: UntrustedPolicy = .strict

  /// Runs the command of the arguments. Returns the exit status.
  ///
  /// - Parameter outgoing: tests permit more than the internet.
  package static func run(_ arguments: [String], outgoing: UntrustedPolicy = .strict) async -> Int32 {
    Signals.ignoreBrokenPipes()
    switch arguments.first {
    case nil, "--help", "-h": Terminal.print(Help.overview)
    case "--version": Terminal.print("parley \(version)\n")
    case .some:
      guard let (command, rest) = Command.find(arguments) else { return Command.unknown(arguments).report() }
      let status = await $outgoingPolicy.withValue(outgoing) { await command.run(rest) }
      return Terminal.exitStatus(status)
    }
    return Terminal.exitStatus(0)
  }
}

extension OutgoingCommands {
  /// Without requests, which only the daemon sends.
  static let unreachable = OutgoingCommands { _ in .failed(.unreachable) }
}

extension OutgoingWebhooks {
  /// Without deliveries: the next daemon resumes them.
  static func checking(_ policy: UntrustedPolicy) -> OutgoingWebhooks {
    OutgoingWebhooks(url: { policy.address(of: $0, requiresTLS: true)?.description }, examine: { _ in })
  }
}
