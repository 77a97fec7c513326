-- Sends the bytes of a file over and over: wrk itself would send headers in any order.
init = function(args)
  local file = assert(io.open(args[1], "rb"))
  local request = file:read("*a")
  file:close()
  wrk.format = function() return request end
end

done = function(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    summary.errors.status + summary.errors.connect + summary.errors.read
      + summary.errors.write + summary.errors.timeout))
end
