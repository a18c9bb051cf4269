-- Arguments: the first of the seven-digit keys that requests get in turn, or "none", and after how many requests to
-- report progress, or 0.

-- Reports when the load begins, because starting wrk can take a long time on a busy machine.
function setup()
  io.write('BEGIN\n')
  io.stdout:flush()
end

function init(args)
  local key, every = tonumber(args[1]), tonumber(args[2])
  if not key and every == 0 then return end
  local whole = wrk.format('GET', wrk.path .. (key and '@KEY@' or ''))
  local first, last = whole:find('@KEY@', 1, true)
  local head, tail = whole:sub(1, (first or 1) - 1), whole:sub((last or 0) + 1)
  local sent = 0
  request = function()
    sent = sent + 1
    if every > 0 and sent % every == 0 then
      io.write('SENT ' .. sent .. '\n')
      io.stdout:flush()
    end
    if not key then return whole end
    key = (key + 1) % 10000000
    return head .. string.format('%07d', key) .. tail
  end
end

-- Prints exact counts: wrk's own output rounds bytes and lists errors only if there are any.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"bytes":%d,"durationUs":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\n',
    summary.requests, summary.bytes, summary.duration, e.connect, e.read, e.write, e.timeout, e.status))
end
