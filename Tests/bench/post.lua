-- Posts a message with each request. ID in the target or the body is another one each time, TEXT a short sentence.
local method, target, body = os.getenv("METHOD"), os.getenv("TARGET"), os.getenv("BODY")
local headers = { ["Authorization"] = "Bearer " .. os.getenv("TOKEN"), ["Content-Type"] = "application/json" }
local run, sent = tostring(os.time()) .. "-" .. tostring({}):gsub("%W", ""), 0

request = function()
  sent = sent + 1
  local values = { ID = run .. "-" .. sent, TEXT = "The kettle is on, come down when you are ready. " .. sent }
  return wrk.format(method, (target:gsub("ID", values)), headers, (body:gsub("%u+", values)))
end

done = function(summary, latency) dofile("Tests/bench/report.lua")(summary, latency) end
