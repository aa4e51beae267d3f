/** Where `drizzle-kit generate` finds the tables and puts migrations. */
const config = { dialect: 'postgresql', schema: './services/registry/src/store/tables/*.ts', out: './migrations' }
export { config as default }
