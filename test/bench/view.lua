-- A realistic view, of about 450 bytes, over connections that are kept.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"pn":"Autumn in the mountains: seven walks for a long weekend","pid":"5f3c1a9e-7d42","mb":0,'
  .. '"mv":{"vt":1280,"v30":312,"dlv":-4},"mp":{"p":["5f3c1a9e-7d41","5f3c1a9e-7d40"]},"cf":[],"csf":[],'
  .. '"p":"1000001","ubl":"nb-NO","ref":"https://www.example.com/walks","ld":"2026-01-31T12:34:56.789Z",'
  .. '"url":"/walks/autumn-in-the-mountains","content":{"templateId":"article-2"},'
  .. '"orgreferer":"https://search.example/","hc":true}'

init = function(args)
  if args[1] == "spaced" then
    wrk.body = wrk.body:gsub('":', '": ')
  end
end

done = function(summary, latency)
  io.write(string.format(
    'RESULT {"viewBytes":%d,"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}\n',
    #wrk.body, summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    summary.errors.status + summary.errors.connect + summary.errors.read
      + summary.errors.write + summary.errors.timeout))
end
