"""The papers behind Tacit, and which mechanism rests on which."""

PAPERS = {
    "AD20": "Hilal Asi, John Duchi. Near instance-optimality in differential privacy. arXiv:2005.10630, 2020.",
    "BDRS18": (
        "Mark Bun, Cynthia Dwork, Guy Rothblum, Thomas Steinke. Composable and versatile privacy via truncated "
        "CDP. STOC 2018."
    ),
    "BKSW19": (
        "Mark Bun, Gautam Kamath, Thomas Steinke, Zhiwei Steven Wu. Private hypothesis selection. NeurIPS 2019, "
        "arXiv:1905.13229."
    ),
    "BLR08": (
        "Avrim Blum, Katrina Ligett, Aaron Roth. A learning theory approach to non-interactive database privacy. "
        "STOC 2008, arXiv:1109.2229."
    ),
    "BNSV15": (
        "Mark Bun, Kobbi Nissim, Uri Stemmer, Salil Vadhan. Differentially private release and learning of "
        "threshold functions. FOCS 2015, arXiv:1504.07553."
    ),
    "BS16": (
        "Mark Bun, Thomas Steinke. Concentrated differential privacy: simplifications, extensions, and lower "
        "bounds. TCC 2016, arXiv:1605.02065."
    ),
    "BS19": (
        "Mark Bun, Thomas Steinke. Average-case averages: private algorithms for smooth sensitivity and mean "
        "estimation. NeurIPS 2019, arXiv:1906.02830."
    ),
    "CHS14": (
        "Kamalika Chaudhuri, Daniel Hsu, Shuang Song. The large margin mechanism for differentially private "
        "maximization. NIPS 2014, arXiv:1409.2177."
    ),
    "CKS20": (
        "Clément Canonne, Gautam Kamath, Thomas Steinke. The discrete Gaussian for differential privacy. NeurIPS "
        "2020, arXiv:2004.00010."
    ),
    "DFYTM22": (
        "Wei Dong, Juanru Fang, Ke Yi, Yuchao Tao, Ashwin Machanavajjhala. R2T: instance-optimal truncation for "
        "differentially private query evaluation with foreign keys. SIGMOD 2022."
    ),
    "DL09": "Cynthia Dwork, Jing Lei. Differential privacy and robust statistics. STOC 2009.",
    "DMNS06": (
        "Cynthia Dwork, Frank McSherry, Kobbi Nissim, Adam Smith. Calibrating noise to sensitivity in private data "
        "analysis. TCC 2006."
    ),
    "DNRRV09": (
        "Cynthia Dwork, Moni Naor, Omer Reingold, Guy Rothblum, Salil Vadhan. On the complexity of differentially "
        "private data release. STOC 2009."
    ),
    "FDY22": (
        "Juanru Fang, Wei Dong, Ke Yi. Shifted inverse: a general mechanism for monotonic functions under user "
        "differential privacy. CCS 2022."
    ),
    "FZ21": "Vitaly Feldman, Tijana Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.",
    "GLMRT10": (
        "Anupam Gupta, Katrina Ligett, Frank McSherry, Aaron Roth, Kunal Talwar. Differentially private "
        "combinatorial optimization. SODA 2010."
    ),
    "GRS09": (
        "Arpita Ghosh, Tim Roughgarden, Mukund Sundararajan. Universally utility-maximizing privacy mechanisms. "
        "STOC 2009."
    ),
    "GV16": (
        "Quan Geng, Pramod Viswanath. The optimal noise-adding mechanism in differential privacy. IEEE Transactions on "
        "Information Theory 62, 2016, arXiv:1212.1186."
    ),
    "KK07": "Richard Karp, Robert Kleinberg. Noisy binary search and its applications. SODA 2007.",
    "KKMN09": (
        "Aleksandra Korolova, Krishnaram Kenthapadi, Nina Mishra, Alexandros Ntoulas. Releasing search queries and "
        "clicks privately. WWW 2009."
    ),
    "KSS22": (
        "Haim Kaplan, Shachar Schnapp, Uri Stemmer. Differentially private approximate quantiles. ICML 2022, "
        "arXiv:2110.05429."
    ),
    "KSW24": (
        "Alex Kulesza, Ananda Theertha Suresh, Yuyan Wang. Mean estimation in the add-remove model of differential "
        "privacy. ICML 2024, arXiv:2312.06658."
    ),
    "LRSS25": (
        "Ephraim Linder, Sofya Raskhodnikova, Adam Smith, Thomas Steinke. Privately evaluating untrusted black-box "
        "functions. arXiv:2503.19268, 2025."
    ),
    "LT19": "Jingcheng Liu, Kunal Talwar. Private selection from private candidates. STOC 2019, arXiv:1811.07971.",
    "M17": "Ilya Mironov. Rényi differential privacy. CSF 2017.",
    "MS20": (
        "Ryan McKenna, Daniel Sheldon. Permute-and-flip: a new mechanism for differentially private selection. "
        "NeurIPS 2020, arXiv:2010.12603."
    ),
    "MT07": "Frank McSherry, Kunal Talwar. Mechanism design via differential privacy. FOCS 2007.",
    "NRS07": (
        "Kobbi Nissim, Sofya Raskhodnikova, Adam Smith. Smooth sensitivity and sampling in private data analysis. "
        "STOC 2007."
    ),
    "PS22": (
        "Nicolas Papernot, Thomas Steinke. Hyperparameter tuning with Rényi differential privacy. ICLR 2022, "
        "arXiv:2110.03620."
    ),
    "RRUV16": (
        "Ryan Rogers, Aaron Roth, Jonathan Ullman, Salil Vadhan. Privacy odometers and filters: pay-as-you-go "
        "composition. NIPS 2016."
    ),
    "SNJ23": "Thomas Steinke, Milad Nasr, Matthew Jagielski. Privacy auditing with one (1) training run. NeurIPS 2023.",
    "VW21": "Salil Vadhan, Tianhao Wang. Concurrent composition of differential privacy. TCC 2021, arXiv:2105.14427.",
    "W65": (
        "Stanley Warner. Randomized response: a survey technique for eliminating evasive answer bias. Journal of "
        "the American Statistical Association 60, 1965."
    ),
    "WRRW22": (
        "Justin Whitehouse, Aaditya Ramdas, Ryan Rogers, Zhiwei Steven Wu. Fully adaptive composition in "
        "differential privacy. 2022."
    ),
}

BEHIND = {
    "above_threshold": ["DNRRV09", "VW21"],
    "absorb": ["LT19"],
    "bayesian_search": ["KK07", "BS16"],
    "binary_search": ["BLR08", "KK07"],
    "bounded_mean": ["DMNS06", "KSW24"],
    "capped_flow": ["FDY22", "DFYTM22"],
    "condition_on_success": ["GLMRT10", "LT19"],
    "cuts": ["KSS22", "MT07"],
    "discrete_gaussian": ["CKS20"],
    "discrete_laplace": ["DMNS06", "GRS09"],
    "exponential": ["MT07"],
    "flow_cap": ["FDY22", "DFYTM22"],
    "interior_point": ["BNSV15"],
    "inverse_losses": ["AD20"],
    "inverse_search": ["AD20"],
    "inverse_sensitivity": ["AD20"],
    "noise": ["DMNS06", "GRS09", "CKS20", "W65"],
    "noise_vector": ["DMNS06", "CKS20"],
    "noisy_max": ["MT07", "MS20"],
    "permute_and_flip": ["MS20"],
    "private_bound": ["DL09"],
    "propose_test_release": ["DL09"],
    "ratio": ["DMNS06", "KSW24", "GV16"],
    "repeat_and_select": ["LT19", "PS22"],
    "scan_and_release": ["DNRRV09", "FDY22"],
    "shared_scans": ["DNRRV09", "FDY22"],
    "shifted_inverse": ["FDY22"],
    "smooth_noises": ["NRS07", "BS19"],
    "smooth_sensitivity": ["NRS07", "BS19"],
    "staircase": ["GV16"],
    "stable_argmin": ["DL09", "CHS14", "BDRS18", "BKSW19"],
    "stable_keys": ["KKMN09"],
    "stable_mode": ["DL09"],
    "subset_extension": ["LRSS25", "DL09"],
    "threshold_scan": ["DNRRV09", "FDY22"],
    "tree_descent": ["MT07"],
    "truncated_laplace": ["GRS09"],
    "vector_cap": ["MT07", "DNRRV09"],
    "black_boxes.aggregation": ["NRS07"],
    "black_boxes.extensions": ["LRSS25"],
    "black_boxes.fallen": ["FDY22"],
    "black_boxes.floors": ["LRSS25"],
    "black_boxes.lipschitz": ["LRSS25"],
}
