import Glibc
import ParleyNetworking
import ParleyWire

/// A web server in front of Parley.
enum ReverseProxy: String, CaseIterable {
  case caddy, nginx, apache2, haproxy, traefik

  /// The first one that runs on this machine.
  static func running() -> ReverseProxy? {
    let names = Set(
      ((try? FileSystem.names(in: "/proc")) ?? []).filter { $0.allSatisfy(\.isNumber) }.compactMap { process in
        // A process may have ended meanwhile.
        (try? FileSystem.read("/proc/\(process)/comm")).map {
          String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self)
        }
      })
    return allCases.first { names.contains($0.rawValue) }
  }

  /// The lines for its configuration; nil if only the manual has them.
  func block(host: String) -> String? {
    switch self {
    case .caddy:
      """
      \(host) {
          encode zstd gzip
          reverse_proxy 127.0.0.1:8080
      }
      """
    case .nginx:
      """
      client_max_body_size 20m;
      location / {
          proxy_pass http://127.0.0.1:8080;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header X-Forwarded-For $remote_addr;
          proxy_set_header X-Forwarded-Proto $scheme;
          proxy_set_header X-Forwarded-Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $http_connection;
          proxy_read_timeout 1h;
      }
      """
    case .apache2, .haproxy, .traefik: nil
    }
  }

  /// The file for these lines.
  var file: String {
    switch self {
    case .caddy: "/etc/caddy/Caddyfile, then: systemctl reload caddy"
    case .nginx: "the server block of the site with your certificate, then: nginx -t && systemctl reload nginx"
    case .apache2, .haproxy, .traefik: "the configuration of \(rawValue)"
    }
  }
}

/// Checks of the machine before `parley up` changes it.
enum MachineChecks {
  /// The lower-case name of a site; refused for an address or a name without a dot.
  static func siteName(_ text: String) throws(Settings.UsageError) -> String {
    let name = text.lowercased()
    guard SocketAddress(host: name, port: 0) == nil else {
      throw Settings.UsageError(
        message: "\(Terminal.plain(text)) is an address. parley up takes a name such as chat.example.org.")
    }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isName =
      labels.count > 1 && name.utf8.count <= 253
      && labels.allSatisfy { label in
        1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy {
            ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-")
          }
      }
    guard isName else {
      throw Settings.UsageError(
        message:
          "\"\(Terminal.plain(text))\" is not a name of the DNS. parley up takes a name such as chat.example.org.")
    }
    return name
  }

  /// Refuses a name without an address, or with an address of another machine.
  static func requireName(_ name: String, allowsForeign: Bool) throws(Settings.UsageError) {
    let addresses: [SocketAddress]
    do throws(SystemError) { addresses = try SocketAddress.resolve(host: name, port: 0) } catch {
      throw Settings.UsageError(
        message: "\(name) has no address. Add an A or AAAA record for it where the domain is managed, and wait until "
          + "it is visible here: getent hosts \(name)")
    }
    if addresses.allSatisfy({ IPAddress($0.host)?.isLoopback == true }) {
      throw Settings.UsageError(
        message:
          "\(name) leads to \(addresses.first?.host ?? "this machine") only here, by /etc/hosts. Remove the name from that file, and add an "
          + "A or AAAA record for it where the domain is managed.")
    }
    let foreign = addresses.filter { !isLocal($0) }
    guard let first = foreign.first, !allowsForeign else { return }
    throw Settings.UsageError(
      message:
        "\(name) leads to \(first.host), which is no address of this machine. Correct its DNS record. For a machine "
        + "behind a router that forwards the ports 80 and 443, add \(UpCommand.anyAddress.flag).")
  }

  /// Only an address of this machine can be bound.
  private static func isLocal(_ address: SocketAddress) -> Bool { (try? ListeningSocket(binding: address)) != nil }

  /// Refuses ports that other programs use.
  static func requirePorts(_ ports: [UInt16]) throws(Settings.UsageError) {
    for port in ports {
      // One socket for both families, or one of IPv4 on a machine without IPv6.
      let candidates = [SocketAddress(host: "::", port: port), SocketAddress(host: "0.0.0.0", port: port)]
      var reason: SystemError?
      for address in candidates.compactMap(\.self) {
        do throws(SystemError) {
          _ = try ListeningSocket(binding: address)
          reason = nil
          break
        } catch {
          reason = error
          if error.code == EADDRINUSE { break }
        }
      }
      guard let reason else { continue }
      throw Settings.UsageError(
        message:
          "Port \(port) is not free: \(reason.reason). Find its program with ss -ltnp 'sport = :\(port)' and stop it, "
          + "or use it as a proxy: \(UpCommand.tls.flag) proxy.")
    }
  }
}
