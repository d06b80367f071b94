import ParleyWire
import Testing

@Suite struct AcceptTests {
  @Test(arguments: [
    (nil, false), ("", false), ("gzip", true), ("GZip", true), ("x-gzip", true), ("deflate, gzip;q=0.5", true),
    ("*", true), ("br", false),
    ("gzip;q=0", false), ("gzip;q=0.000", false), ("*, gzip;q=0", false), ("*;q=0", false), ("*;q=0, gzip", true),
    ("identity", false), ("gzip;q=2", false), ("gzip;q=0.0001", false), ("gzip ; q=1.000", true), ("gzip;q=", false),
  ])
  func `gzip is used if the client accepts it`(_ value: String?, _ isAllowed: Bool) {
    var fields = Fields()
    if let value { fields.add("Accept-Encoding", value) }
    #expect(Accept.encodings(fields).allowsGzip == isAllowed)
  }

  @Test(arguments: [
    (nil, 1_000), ("*/*", 1_000), ("text/html", 0), ("application/json", 1_000), ("Application/*;q=0.5", 500),
    ("*/*;q=0.1, application/*;q=0.2, application/json;q=0.3", 300), ("application/json;version=1;q=0.7", 700),
    ("text/html, */*;q=0.01", 10), ("application/json;q=1.5, */*", 1_000),
  ])
  func `the most specific member determines the weight of a type`(_ value: String?, _ weight: Int) {
    var fields = Fields()
    if let value { fields.add("Accept", value) }
    #expect(Accept.types(fields).weight(ofType: "application", "json") == weight)
  }
}
