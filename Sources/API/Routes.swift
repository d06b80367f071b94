// Every endpoint, one line each.

extension API {
  static let endpoints: [Endpoint] = []
}
