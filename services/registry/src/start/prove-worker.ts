import { proveSchemas, type SchemasToProve } from '@repertoire/core'
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (schemas: SchemasToProve) => parentPort?.postMessage(proveSchemas(schemas)))
parentPort?.postMessage('ready')
