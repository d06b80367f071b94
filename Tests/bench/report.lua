-- Prints what was measured as one line of JSON.
return function(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"operations": %d, "seconds": %.6f, "errors": %d, "p50_us": %.0f, "p99_us": %.0f}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
