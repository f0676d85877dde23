WITH link0 AS NOT MATERIALIZED (SELECT "t"."who" AS person FROM "t" AS "t" LEFT JOIN "p" AS "p 1" ON "t"."place" COLLATE "binary" = "p 1"."place" COLLATE "binary"),
rows AS NOT MATERIALIZED (SELECT person FROM link0 WHERE person IS NOT NULL),
persons AS MATERIALIZED (SELECT 1 AS present FROM rows GROUP BY person)
SELECT 0 AS request, CAST(COUNT(*) AS HUGEINT) AS a, CAST(NULL AS HUGEINT) AS b, CAST(NULL AS HUGEINT) AS c, CAST(NULL AS DOUBLE) AS x FROM persons
