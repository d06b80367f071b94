-- Gets one address over and over, as somebody.
local asked = { ["Authorization"] = "Bearer " .. os.getenv("TOKEN") }

request = function() return wrk.format("GET", os.getenv("TARGET"), asked) end

done = function(summary, latency) dofile("Tests/bench/report.lua")(summary, latency) end
