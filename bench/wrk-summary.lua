-- Tells that the round begins now: starting the program itself can take long on a busy machine.
function setup()
  io.write('BEGIN\n')
  io.stdout:flush()
end

-- Prints what wrk knows exactly; its own text rounds bytes and names errors only when there are some.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"bytes":%d,"durationUs":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\n',
    summary.requests, summary.bytes, summary.duration, e.connect, e.read, e.write, e.timeout, e.status))
end
