// aedes has no program of its own: a broker at the port that is given.
const broker = require('aedes')()
require('net').createServer(broker.handle).listen(Number(process.argv[2]), '127.0.0.1')
