import { createServer } from 'node:http';
import { questionPage } from '../../pages.ts';

const [port, ...extra] = process.argv.slice(2);
const body = questionPage('29k');
const headers = ['Content-Type', 'application/json;charset=UTF-8', 'Content-Length', String(body.length), ...extra];

createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(port), '127.0.0.1');
