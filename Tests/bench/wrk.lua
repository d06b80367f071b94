-- Sends DEPTH requests at once, and prints what was measured as one line of JSON.
local batch

init = function()
  local requests = {}
  for number = 1, tonumber(os.getenv("DEPTH") or "1") do requests[number] = wrk.format() end
  batch = table.concat(requests)
end

request = function() return batch end

done = function(summary, latency) dofile("Tests/bench/report.lua")(summary, latency) end
