// Every endpoint, one line each.

import Web
import Wire

extension API {
  static let endpoints: [Endpoint] = [
    Endpoint(.post, "/sessions", .anyone, signIn),
    Endpoint(.delete, "/sessions/{id}", .person(.read), endSession),
  ]
}
