-- Reports when the round begins, because starting wrk can take a long time on a busy machine.
function setup()
  io.write('BEGIN\n')
  io.stdout:flush()
end

-- Prints exact counts: wrk's own output rounds bytes and lists errors only if there are any.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"bytes":%d,"durationUs":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\n',
    summary.requests, summary.bytes, summary.duration, e.connect, e.read, e.write, e.timeout, e.status))
end
