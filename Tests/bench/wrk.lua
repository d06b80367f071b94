-- Sends DEPTH requests at once, and prints what was measured as one line of JSON.
local batch

init = function()
  local requests = {}
  for number = 1, tonumber(os.getenv("DEPTH") or "1") do requests[number] = wrk.format() end
  batch = table.concat(requests)
end

request = function() return batch end

done = function(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"operations": %d, "seconds": %.6f, "errors": %d, "p50_us": %.0f, "p99_us": %.0f}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
