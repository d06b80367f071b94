import ParleyWire

/// Responses at an earlier public origin of the site: redirects to the new one.
enum FormerOrigin {
  /// Browsers ask again after a day, so that the operator may take a rename back.
  private static let lifetime = 86_400

  static func response(to request: Request, at address: String) -> Response {
    if request.fields["service-worker"] == "script" { return farewell }
    var response = Response.redirect(.permanentRedirect, to: address)
    response.fields.add("Cache-Control", "max-age=\(lifetime)")
    return response
  }

  /// The last service worker of the origin. The one of the app would go on to serve the app from its cache, and a browser
  /// follows no redirect of its script (Service Workers, §Update). This one removes itself and loads the open pages again.
  private static var farewell: Response {
    var response = Response(.ok, Array(script.utf8), type: .javaScript)
    response.fields.add("Cache-Control", "no-store")
    return response
  }

  private static let script = """
    addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil((async () => {
      await registration.unregister();
      for (const client of await clients.matchAll({ type: 'window' })) client.navigate(client.url);
    })()));

    """
}
