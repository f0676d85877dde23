-- Q1
select o_custkey, l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
    sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
    sum(l_discount), count(*)
from lineitem join orders on o_orderkey = l_orderkey
where l_shipdate <= date '1998-12-01' - interval '90' day
group by o_custkey, l_returnflag, l_linestatus;

-- Q6
select o_custkey, sum(l_extendedprice * l_discount)
from lineitem join orders on o_orderkey = l_orderkey
where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
    and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24
group by o_custkey;

-- Q11
select ps_suppkey, ps_partkey, sum(ps_supplycost * ps_availqty)
from partsupp, supplier, nation
where ps_suppkey = s_suppkey and s_nationkey = n_nationkey and n_name = 'GERMANY'
group by ps_suppkey, ps_partkey;

-- Q14
select o_custkey, sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end),
    sum(l_extendedprice * (1 - l_discount))
from lineitem, part, orders
where o_orderkey = l_orderkey and l_partkey = p_partkey
    and l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-09-01' + interval '1' month
group by o_custkey;

-- Q16
select distinct ps_suppkey, p_brand, p_type, p_size
from partsupp, part
where p_partkey = ps_partkey and p_brand <> 'Brand#45' and p_type not like 'MEDIUM POLISHED%'
    and p_size in (49, 14, 23, 45, 19, 3, 36, 9)
    and ps_suppkey not in (select s_suppkey from supplier where s_comment like '%Customer%Complaints%');

-- Q17
with chosen as (
    select o_custkey, l_partkey, l_quantity, l_extendedprice
    from lineitem, part, orders
    where p_partkey = l_partkey and o_orderkey = l_orderkey and p_brand = 'Brand#23' and p_container = 'MED BOX'
), means as (
    select l_partkey, 0.2 * sum(quantity) / sum(lines) as least
    from (select o_custkey, l_partkey, sum(l_quantity) as quantity, count(*) as lines from chosen group by all)
    group by l_partkey
)
select o_custkey, sum(l_extendedprice)
from chosen join means using (l_partkey)
where l_quantity < least
group by o_custkey;
