import ParleyJSON

extension Histogram {
  /// Prints the result of a benchmark without sockets, as text or JSON for `make bench`.
  /// - Parameter operations: the number of operations if a recorded time covers several.
  func report(operations: Int? = nil, in seconds: Double, asJSON: Bool) {
    let operations = operations ?? Int(count)
    let (p50, p99) = (Double(value(at: 0.5)) / 1e3, Double(value(at: 0.99)) / 1e3)
    guard asJSON else {
      let rate = Int(Double(operations) / seconds)
      return print("\(operations) in \(seconds.rounded(to: 2)) s: \(rate) a second, p50 \(p50) µs, p99 \(p99) µs")
    }
    var json = JSONWriter()
    json.object { json in
      json.field("operations", operations)
      json.field("seconds", seconds)
      json.field("errors", 0)
      json.field("p50_us", p50)
      json.field("p99_us", p99)
    }
    print(String(decoding: json.bytes, as: UTF8.self))
  }
}
